// `npm run postinstall`, also after `npm ci`: links the Node.js of node_modules for `npx`.
import { findNode, linkNode, NodeError } from './pinned-node.mjs';

try {
  linkNode(findNode());
} catch (error) {
  if (!(error instanceof NodeError)) throw error;
  // For example after `npm ci --omit=dev`, which need not fail. The npm scripts do.
  console.warn(error.message);
}
