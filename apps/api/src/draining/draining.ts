import type { FastifyInstance } from 'fastify';

/** Whether the process is about to end: still serving, but no longer ready. */
export class Draining {
  private hasBegun = false;

  get isActive(): boolean {
    return this.hasBegun;
  }

  begin(): void {
    this.hasBegun = true;
  }
}

/** From then on each answer ends its connection, so that the client comes back elsewhere. */
export function closeConnectionsWhenDraining(fastify: FastifyInstance, draining: Draining): void {
  fastify.addHook('onSend', (_request, reply, payload, done) => {
    if (draining.isActive) reply.header('Connection', 'close');
    done(null, payload);
  });
}
