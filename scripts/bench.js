import { build } from './build.js';
import { ensureInstalled } from './install.js';
import { root, run, tool } from './run.js';

await ensureInstalled();
await build();
process.exit(
	await run(process.execPath, [
		'--expose-gc',
		`--import=${tool('tsx/dist/loader.mjs')}`,
		'--conditions=source',
		`${root}/bench/main.ts`,
		...process.argv.slice(2),
	]),
);
