"""Reward models from comparisons: Bradley–Terry (1952) on the trunk of a causal LM.

config.py the file of such a run, comparisons.py lines → tokens, calibration.py what is reported,
trainer.py the loop, work.py a process's share.
"""
