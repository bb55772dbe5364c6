import { build } from './build.js';
import { ensureInstalled } from './install.js';
import { root, run } from './run.js';

await ensureInstalled();
await build();
process.exit(
	await run(process.execPath, [
		'--disable-proto=delete',
		`${root}/cli/bin/stowage.js`,
		'serve',
		...process.argv.slice(2),
	]),
);
