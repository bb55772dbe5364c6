import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { exclusively } from './lock.js';
import { must, root, tool } from './run.js';
import { staleness } from './stale.js';

/** Builds what is stale: the server by TypeScript's project references, the page by vite. */
export function build() {
	return exclusively(path.join(root, 'node_modules', '.stowage-build.lock'), async () => {
		const [server, web] = await Promise.all([staleness('server'), staleness('web')]);
		if (server.isStale) {
			console.error('Building the server ...');
			// The compiler trusts its own notes of what it has written.
			const force = server.isTouched ? ['--force'] : [];
			await must(process.execPath, [tool('typescript/bin/tsc'), '--build', 'config/tsconfig.build.json', ...force]);
			await server.done();
		}
		if (web.isStale) {
			console.error('Building the page ...');
			await must(process.execPath, [tool('vite/bin/vite.js'), 'build', 'web', '--logLevel', 'warn']);
			await web.done();
		}
	});
}

if (process.argv[1] !== undefined && path.resolve(process.argv[1]) === fileURLToPath(import.meta.url)) {
	const { ensureInstalled } = await import('./install.js');
	await ensureInstalled();
	await build();
}
