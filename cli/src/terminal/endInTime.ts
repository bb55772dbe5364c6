import { loadKoffi } from '../loadKoffi.js';

/** How long what a command has left may take to end. */
const leftMs = 2000;

/**
 * Ends the process once nothing is left to do, or two seconds after all that was printed has been taken. A thread that waits for a disk
 * that does not answer is never done, and Node waits for its threads whenever it ends by itself.
 */
export async function endInTime(code: number): Promise<void> {
	process.exitCode = code;
	const { outputTaken } = await import('./output.js');
	await outputTaken();
	setTimeout(() => exitWithoutThreads(Number(process.exitCode)), leftMs).unref();
}

/** As `process.exit`, whose listeners run first, but without waiting for such threads where the library can be called. */
export function exitWithoutThreads(code: number): never {
	process.once('exit', () => {
		try {
			loadKoffi().load(null).func('void _exit(int)')(code);
		} catch {
			// It can't on this machine: the process ends once its threads have.
		}
	});
	process.exit(code);
}
