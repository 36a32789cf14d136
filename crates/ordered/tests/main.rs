//! The pool against plain loops: order, bounds, errors, cancellation and panics.

mod pool;
