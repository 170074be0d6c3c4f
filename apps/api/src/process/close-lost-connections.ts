import type { ChildProcess } from 'node:child_process';

/** A message of node:cluster. `newconn` hands a connection to a worker, which responds with the number of the message. */
interface ClusterMessage {
  readonly act?: string;
  readonly seq?: number;
  readonly ack?: number;
}

interface Connection {
  close(): void;
}

/**
 * Closes the connections that the worker has not accepted when it ends. node:cluster keeps them open, so their clients would get no
 * response: https://github.com/nodejs/node/issues/21746
 */
export function closeLostConnections(worker: ChildProcess): void {
  const handedOver = new Map<number | undefined, Connection>();
  const send = worker.send.bind(worker) as (...args: unknown[]) => boolean;
  worker.send = (message: ClusterMessage, ...args: unknown[]) => {
    if (message.act === 'newconn') handedOver.set(message.seq, args[0] as Connection);
    return send(message, ...args);
  };
  worker.on('internalMessage', ({ ack }: ClusterMessage) => handedOver.delete(ack));
  // Emitted after the last message of the worker. `disconnect` is not emitted while a connection is being handed over.
  worker.once('close', () => {
    for (const connection of handedOver.values()) connection.close();
  });
}
