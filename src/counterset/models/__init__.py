"""Models: whatever predicts, asked for labels, and what counts as another answer.

Begin with ``adapter``, which asks the model. ``frameworks`` knows the models of torch, keras and
ONNX, ``answers`` checks what a model answered, ``goals`` says which labels an explanation may lead
to, and ``files`` loads models from files.

Modules here import ``counterset.tables`` and what lies below it: no constraint, no step.
"""
