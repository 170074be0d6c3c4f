import { serve, StartupError } from './serve.js';

try {
  const service = await serve(process.env);
  const exit = () => process.exit(0);
  // An orchestrator's stop is gentle, Ctrl-C is quick. Both may come again: a supervisor passes on what a group got already.
  process.on('SIGTERM', () => void service.drain().then(exit));
  process.on('SIGINT', () => void service.close().then(exit));
} catch (error) {
  console.error(error instanceof StartupError ? error.message : error);
  process.exitCode = 1;
}
