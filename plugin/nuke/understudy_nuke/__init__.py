"""understudy in Nuke: a training node, its way to a farm, bakes and results. No training, numpy or torch here."""
