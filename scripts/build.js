import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundleServer, serverPackages } from './bundle.js';
import { exclusively } from './lock.js';
import { must, root, tool } from './run.js';
import { staleness } from './stale.js';

/** Builds what is stale: the server by esbuild, and the page by vite at the same time, which leaves it processors. */
export function build() {
	return exclusively(path.join(root, 'node_modules', '.stowage-build.lock'), async () => {
		const [server, web] = await Promise.all([staleness('server'), staleness('web')]);
		// Both have ended before the lock is released, also where one fails.
		const ends = await Promise.allSettled([server.isStale && buildServer(), web.isStale && buildPage()]);
		for (const end of ends) if (end.status === 'rejected') throw end.reason;
		for (const one of [server, web]) if (one.isStale) await one.done();
	});
}

async function buildServer() {
	console.error('Building the server ...');
	await bundleServer(await serverPackages());
}

async function buildPage() {
	console.error('Building the page ...');
	await must(process.execPath, [tool('vite/bin/vite.js'), 'build', 'web', '--logLevel', 'warn'], {
		// Of another environment it would be React's development build, which is larger and slower.
		env: { ...process.env, NODE_ENV: 'production' },
	});
}

if (process.argv[1] !== undefined && path.resolve(process.argv[1]) === fileURLToPath(import.meta.url)) {
	const { ensureInstalled } = await import('./install.js');
	await ensureInstalled();
	await build();
}
