import { realpathSync } from 'node:fs';
import path from 'node:path';

/** What a program needs to run at all; of these each is there or not. */
const system = ['/bin', '/lib', '/lib32', '/lib64', '/etc/alternatives', '/etc/ld.so.cache'];

/** What encoders of the graphics processor need. */
const devices = ['/dev/dri', '/dev/nvidia0', '/dev/nvidiactl', '/dev/nvidia-uvm'];

/**
 * The arguments for bubblewrap: no network, no other process, no file but the system's programs, which can't be written, and no place to write to. What is open stays so: the
 * source and the output are lent as descriptors.
 */
export function cageArguments(program: string, mayUseHardware: boolean): string[] {
	const folder = path.dirname(realpathSync(program));
	const own = folder.startsWith('/usr/') ? [] : ['--ro-bind', folder, folder];
	const reached = [...new Set([path.dirname(program)])].filter((each) => !each.startsWith('/usr/') && each !== folder);
	return [
		...['--unshare-all', '--die-with-parent', '--cap-drop', 'ALL', '--uid', '65534', '--gid', '65534'],
		...['--ro-bind', '/usr', '/usr'],
		...system.flatMap((each) => ['--ro-bind-try', each, each]),
		...own,
		...reached.flatMap((each) => ['--ro-bind', each, each]),
		...['--proc', '/proc', '--dev', '/dev'],
		...(mayUseHardware
			? ['--ro-bind', '/sys', '/sys', ...devices.flatMap((each) => ['--dev-bind-try', each, each])]
			: []),
		// Else what is written there would be memory that nobody counts.
		...(mayUseHardware ? [] : ['--remount-ro', '/dev']),
		...['--remount-ro', '/', '--chdir', '/', '--', program],
	];
}
