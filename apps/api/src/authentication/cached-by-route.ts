import type { ExecutionContext } from '@nestjs/common';

/** Returns a function that caches the results of `read` by controller and handler: controllers of several versions may inherit a handler. */
export function cachedByRoute<Value extends object | string>(
  read: (context: ExecutionContext) => Value,
): (context: ExecutionContext) => Value {
  const values = new WeakMap<object, Map<object, Value>>();
  return (context) => {
    const controller = context.getClass();
    const handler = context.getHandler();
    let value = values.get(controller)?.get(handler);
    if (value === undefined) {
      value = read(context);
      const ofController = values.get(controller) ?? new Map<object, Value>();
      values.set(controller, ofController.set(handler, value));
    }
    return value;
  };
}
