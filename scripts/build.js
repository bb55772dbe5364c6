import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { must, tool } from './run.js';
import { staleness } from './stale.js';

/** Builds what is stale: the server by TypeScript's project references, the page by vite. */
export async function build() {
	const [server, web] = await Promise.all([staleness('server'), staleness('web')]);
	if (server.isStale) {
		console.error('Building the server ...');
		await must(process.execPath, [tool('typescript/bin/tsc'), '--build', 'config/tsconfig.build.json']);
		await server.done();
	}
	if (web.isStale) {
		console.error('Building the page ...');
		await must(process.execPath, [tool('vite/bin/vite.js'), 'build', 'web', '--logLevel', 'warn']);
		await web.done();
	}
}

if (process.argv[1] !== undefined && path.resolve(process.argv[1]) === fileURLToPath(import.meta.url)) {
	const { ensureInstalled } = await import('./install.js');
	await ensureInstalled();
	await build();
}
