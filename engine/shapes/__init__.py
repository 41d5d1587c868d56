"""Shape inference: dims as expressions over the model's input symbols, small integer values carried along."""
