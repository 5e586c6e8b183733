# rez package. Build and install it with `rez build --install`, then `rez env understudy -- understudy --help`.
# Packages are called as rez-pip calls them; a test holds their versions equal to those in pyproject.toml.
# Training needs torch besides, on the worker alone: `rez env understudy torch -- understudy train ...`.

name = "understudy"
version = "0.1.0"
description = "Train an image-to-image network from a handful of painted frames and give the whole shot back"
authors = ["the understudy authors"]
uuid = "understudy.b3b5f1a0"

requires = [
    "python-3.10+<3.14",
    "numpy-1.26+",
    "OpenImageIO-3.2+",
    "OpenTimelineIO-0.17+",
    "Fileseq-2.2+",
    "matplotlib-3.8+",
    "psutil-5.9+",
    "safetensors-0.4.3+",
    "tomli-2+",
    "tqdm-4.66+",
    "~torch-2.10+",
]

tools = ["understudy"]
build_command = "python {root}/package_build.py {install}"
cachable = True


def commands():
    env.PYTHONPATH.append("{root}/core")
    env.PYTHONPATH.append("{root}/farm")
    env.PYTHONPATH.append("{root}/ui")
    env.PATH.append("{root}/bin")
    if "nuke" in resolve:
        env.NUKE_PATH.append("{root}/plugin/nuke")
    if ("nuke" in resolve or "blender" in resolve) and undefined("UNDERSTUDY_PYTHON"):
        # The plugins start this resolve's Python, which finds understudy by PYTHONPATH.
        env.UNDERSTUDY_PYTHON = "python"
        env.UNDERSTUDY_KEEP = "PYTHONPATH"


__pytest = ["python", "-m", "pytest", "-p", "no:cacheprovider", "-m", "not slow"]
__pytest_requires = ["pytest-8.2+", "pytest_timeout-2.3+", "hypothesis-6.100+"]

tests = {
    "import": {
        "command": ["python", "-c", "import understudy.cli.main, understudy.report.contact_sheet, understudy.survey"],
        "run_on": ["default", "pre_install", "pre_release"],
    },
    "unit": {
        "command": [*__pytest, "{root}/tests/core", "--ignore={root}/tests/core/train"],
        "requires": __pytest_requires,
    },
    "train": {
        "command": [*__pytest, "{root}/tests/core/train"],
        "requires": [*__pytest_requires, "torch-2.10+"],
    },
}
