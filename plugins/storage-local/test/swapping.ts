import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { ExecutionContext } from 'ava';

/** Swaps `door` with `link` as fast as it can; at the end `door` is the folder again. */
const program = `
const { renameSync } = require('node:fs');
process.chdir(process.argv[1]);
let isOver = false;
process.stdin.on('end', () => { isOver = true; }).resume();
process.stdout.write('ready');
(function swap() {
	for (let n = 0; n < 1000; n++) {
		renameSync('door', 'away');
		renameSync('link', 'door');
		renameSync('door', 'link');
		renameSync('away', 'door');
	}
	if (!isOver) setImmediate(swap);
})();
`;

/** Swaps in another process. Resolves to the function that ends it. */
export async function startSwapping(t: ExecutionContext, folder: string): Promise<() => Promise<void>> {
	const child = spawn(process.execPath, ['-e', program, folder], { stdio: ['pipe', 'pipe', 'inherit'] });
	const exited = once(child, 'exit');
	t.teardown(() => child.kill());
	await once(child.stdout, 'data');
	return async () => {
		child.stdin.end();
		const [code] = await exited;
		t.is(code, 0);
	};
}
