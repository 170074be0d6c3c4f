import { VERSION_METADATA } from '@nestjs/common/constants.js';
import { Reflector } from '@nestjs/core';
import { cachedByRoute } from './cached-by-route.js';

const reflector = new Reflector();

/** Returns the name of the operation in logs and metrics: that of its handler, followed by its version unless that is 1. */
export const operationOf = cachedByRoute((context) => {
  const handler = context.getHandler();
  const version = reflector.getAllAndOverride<unknown>(VERSION_METADATA, [handler, context.getClass()]);
  const versions = [version].flat().filter((each) => typeof each === 'string');
  return versions.length === 0 || versions.includes('1') ? handler.name : `${handler.name}_v${versions.join('_')}`;
});
