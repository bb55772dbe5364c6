#!/usr/bin/env node
import { access } from 'node:fs/promises';

// As node's own --disable-proto=delete, wherever this was started: no input can reach the prototype of all objects by this name.
Reflect.deleteProperty(Object.prototype, '__proto__');

const program = new URL('../dist/main.js', import.meta.url);
try {
	await access(program);
} catch {
	console.error('Stowage is not built yet: run `npm run build` in its folder once.');
	process.exit(1);
}
await import(program);
