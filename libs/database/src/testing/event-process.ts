import { BatchedRepository } from '../batching/batched-repository.js';
import { appendEvents } from '../events/events.js';
import { OrderEntity, OrderMoved, OrderPlaced, recorder, startEventRunner } from './shop.js';

/** Number of moves of each order. */
const MOVES = 3;

/** A process that places orders and handles their events until it is killed. The argument is the database URL. */
const [, , url = ''] = process.argv;
const dataSource = await startEventRunner(url, [recorder('one'), recorder('two')]);

const orders = new BatchedRepository(dataSource.getRepository(OrderEntity), undefined, { publishes: OrderPlaced });
for (;;) {
  const placed = Array.from({ length: 5 }, () => orders.add({ petId: 1n, customer: 'Ann', placedAt: new Date(), note: null }));
  for (const {
    result: { id: orderId },
  } of await Promise.all(placed))
    for (let step = 1; step <= MOVES; step++)
      await dataSource.transaction(async (manager) => {
        await manager.query(`INSERT INTO shop.effects (subscription, order_id, step) VALUES ('published', $1, $2)`, [orderId, step]);
        await appendEvents(manager, OrderMoved.of({ orderId, step }));
      });
  console.log('moved');
}
