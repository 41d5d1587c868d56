"""The Qt application of OInfer."""
