export { z } from 'zod';
export * from './auth.js';
export * from './files.js';
export * from './json.js';
export * from './parse.js';
export * from './plugin.js';
export * from './route.js';
export * from './storage.js';
export * from './stores.js';
