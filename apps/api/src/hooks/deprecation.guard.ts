import { type Deprecation, DEPRECATION } from '@animal-store/http-contract';
import { Clock, DomainError } from '@animal-store/kernel';
import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { OPERATION_REMOVED } from '../errors/http-errors.js';

/** Responds with 410 to a deprecated operation from its `removedAt` on. */
@Injectable()
export class DeprecationGuard implements CanActivate {
  /** By handler; null if it is not deprecated. */
  private readonly deprecations = new Map<object, Deprecation | null>();

  constructor(
    private readonly clock: Clock,
    private readonly reflector: Reflector,
  ) {}

  canActivate(context: ExecutionContext): true {
    const handler = context.getHandler();
    let deprecation = this.deprecations.get(handler);
    if (deprecation === undefined) {
      deprecation = this.reflector.get<Deprecation | undefined>(DEPRECATION, handler) ?? null;
      this.deprecations.set(handler, deprecation);
    }
    if (deprecation && this.clock.now().getTime() >= deprecation.removedAt.getTime()) throw new DomainError(OPERATION_REMOVED);
    return true;
  }
}
