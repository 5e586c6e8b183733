"""sge: Grid Engine by its own commands; an array job for each step, or ranks as one parallel job."""

from understudy_farm.backends.sge.farm import SgeFarm

__all__ = ["SgeFarm"]
