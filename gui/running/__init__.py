"""Running a model from the window: the plan of a run, its execution as a job, and its results in words."""
