#!/usr/bin/env node
import { access } from 'node:fs/promises';

const program = new URL('../dist/main.js', import.meta.url);
try {
	await access(program);
} catch {
	console.error('Stowage is not built yet: run `npm run build` in its folder once.');
	process.exit(1);
}
await import(program);
