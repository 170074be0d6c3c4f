import { describe, expect, it } from '@jest/globals';
import { explainFailedStart } from './explain-failed-start.js';
import { StartupError } from './startup-error.js';

const config = { adminPort: 9464, databaseUrl: 'postgres://store@db.example:5432/store' };
const failure = (code: string, members: object = {}, message = code) => Object.assign(new Error(message), { code, ...members });

describe('explainFailedStart', () => {
  it.each([
    [failure('EADDRINUSE', { port: 3000 }), 'Port 3000 is taken; set PORT to another one.'],
    [failure('EADDRINUSE', { port: 9464 }), 'Port 9464 is taken; set ADMIN_PORT to another one.'],
    [failure('EACCES', { port: 80 }), 'Port 80 needs more rights; set PORT to 1024 or above.'],
    [failure('EADDRNOTAVAIL', { address: '192.0.2.1', port: 3000 }), 'HOST 192.0.2.1 is no address of this machine.'],
    [failure('EADDRNOTAVAIL', { address: '192.0.2.1', port: 9464 }), 'ADMIN_HOST 192.0.2.1 is no address of this machine.'],
    [failure('ECONNREFUSED', {}, ''), 'The database at db.example:5432 cannot be reached: ECONNREFUSED'],
    [
      new Error('Connection terminated unexpectedly'),
      'The database at db.example:5432 cannot be reached: Connection terminated unexpectedly',
    ],
    [
      failure('28P01', {}, 'password authentication failed\nfor nobody'),
      'The database at db.example:5432 refuses the connection: password authentication failed',
    ],
    [
      failure('3D000', {}, 'database "store" does not exist'),
      'The database at db.example:5432 refuses the connection: database "store" does not exist',
    ],
  ])('tells %o in one line', (error, line) => {
    expect(explainFailedStart(error, config)).toEqual(new StartupError(line));
  });

  it('leaves a fault of the service as it is', () => {
    const error = new TypeError('x is not a function');
    expect(explainFailedStart(error, config)).toBe(error);
  });
});
