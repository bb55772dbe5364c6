import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundleServer, serverPackages } from './bundle.js';
import { exclusively } from './lock.js';
import { Failed, root, run, tool } from './run.js';
import { staleness } from './stale.js';

/** Like `buildBeside`, but a failure ends this process. */
export async function build() {
	try {
		await buildBeside();
	} catch (error) {
		if (!(error instanceof Failed)) throw error;
		console.error(error.message);
		process.exit(error.code);
	}
}

/**
 * Builds what is stale: the server by esbuild, and the page by vite at the same time, which leaves it processors. Throws `Failed` for a page
 * with faults: whoever does something else meanwhile may end it first.
 */
export function buildBeside() {
	return exclusively(path.join(root, 'node_modules', '.stowage-build.lock'), async () => {
		const [server, web] = await Promise.all([staleness('server'), staleness('web')]);
		// Both have ended before the lock is released, also where one fails: another process would write the same files meanwhile.
		const ends = await Promise.allSettled([server.isStale && buildServer(), web.isStale && buildPage()]);
		// One after another, since both are recorded in one file.
		for (const [at, one] of [server, web].entries()) {
			if (one.isStale && ends[at].status === 'fulfilled') await one.done();
		}
		for (const end of ends) if (end.status === 'rejected') throw end.reason;
	});
}

async function buildServer() {
	console.error('Building the server ...');
	await bundleServer(await serverPackages());
}

async function buildPage() {
	console.error('Building the page ...');
	const code = await run(process.execPath, [tool('vite/bin/vite.js'), 'build', 'web', '--logLevel', 'warn'], {
		// Of another environment it would be React's development build, which is larger and slower.
		env: { ...process.env, NODE_ENV: 'production' },
	});
	if (code !== 0) throw new Failed('The page was not built.', code);
}

if (process.argv[1] !== undefined && path.resolve(process.argv[1]) === fileURLToPath(import.meta.url)) {
	const { ensureInstalled } = await import('./install.js');
	await ensureInstalled();
	await build();
}
