import { spawnSync } from 'node:child_process';
import { hasSaidWhy } from './programEnd.js';
import { programEnvironment } from './programEnvironment.js';

/** Arguments of setpriv: the system kills the program once the process that has started it ends, however that ends. */
const withParent = ['--pdeathsig', 'KILL', '--'];

/** A shell script that runs a program only if that process, whose id is `$0`, has not ended before. */
const ifParentLives = '[ "$PPID" = "$0" ] || exit 126; exec "$@"';

/**
 * The command that runs a program which this process starts itself, and which the system kills when this process ends: also when it was
 * killed. The command itself where there is no setpriv that knows this, as that of busybox, and on other systems.
 */
export function boundCommand(file: string, args: readonly string[]): { file: string; args: string[] } {
	if (!canBind()) return { file, args: [...args] };
	return {
		file: 'setpriv',
		args: [...withParent, '/bin/sh', '-c', ifParentLives, String(process.pid), file, ...args],
	};
}

let canBindHere: boolean | undefined;

function canBind(): boolean {
	if (canBindHere !== undefined) return canBindHere;
	if (process.platform !== 'linux') return false;
	const { error, status, signal, stderr } = spawnSync('setpriv', [...withParent, 'true'], {
		env: programEnvironment(),
		encoding: 'utf8',
		stdio: ['ignore', 'ignore', 'pipe'],
		// The whole process waits for it.
		timeout: 1000,
	});
	const isMissing = (error as NodeJS.ErrnoException | undefined)?.code === 'ENOENT';
	// Else the machine had no processes, memory or time for it, and the next program asks again.
	const isRefused = isMissing || hasSaidWhy({ code: status, signal, errors: stderr ?? '' });
	if (status === 0 || isRefused) canBindHere = status === 0;
	return canBindHere ?? false;
}
