import { build } from './build.js';
import { compile } from './compile.js';
import { ensureInstalled } from './install.js';
import { root, run } from './run.js';

await ensureInstalled();
await build();
await compile();
process.exit(await run(process.execPath, ['--expose-gc', `${root}/dist/bench/main.js`, ...process.argv.slice(2)]));
