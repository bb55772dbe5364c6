import { realpathSync } from 'node:fs';
import path from 'node:path';

/** How the sandbox is created. */
export interface Sandbox {
	/** The path of bubblewrap. */
	bwrap: string;
	/**
	 * Whether it has a `/proc` of its own. Where parts of `/proc` are protected, as in containers and by systemd, the kernel allows none: then it has the system's, which can't be
	 * written, and lists other processes but reveals nothing else of them.
	 */
	hasOwnProc: boolean;
}

/** Paths that any program needs; each may be missing. */
const system = ['/bin', '/lib', '/lib32', '/lib64', '/etc/alternatives', '/etc/ld.so.cache'];

/** Devices that encoders of the graphics processor need. */
const devices = ['/dev/dri', '/dev/nvidia0', '/dev/nvidiactl', '/dev/nvidia-uvm'];

/**
 * The arguments for bubblewrap: no network, no other process, no file but the system's programs, which can't be written, and no place to write to. Open descriptors stay open: the
 * source and the output are lent as descriptors.
 */
export function sandboxArguments({ hasOwnProc }: Sandbox, program: string, mayUseHardware: boolean): string[] {
	const folder = path.dirname(realpathSync(program));
	const own = folder.startsWith('/usr/') ? [] : ['--ro-bind', folder, folder];
	const reached = [...new Set([path.dirname(program)])].filter((each) => !each.startsWith('/usr/') && each !== folder);
	return [
		...['--unshare-all', '--die-with-parent', '--cap-drop', 'ALL', '--uid', '65534', '--gid', '65534'],
		...['--ro-bind', '/usr', '/usr'],
		...system.flatMap((each) => ['--ro-bind-try', each, each]),
		...own,
		...reached.flatMap((each) => ['--ro-bind', each, each]),
		...(hasOwnProc ? ['--proc', '/proc'] : ['--ro-bind', '/proc', '/proc']),
		...['--dev', '/dev'],
		...(mayUseHardware
			? ['--ro-bind', '/sys', '/sys', ...devices.flatMap((each) => ['--dev-bind-try', each, each])]
			: []),
		// Else files written there would take uncounted memory.
		...(mayUseHardware ? [] : ['--remount-ro', '/dev']),
		...['--remount-ro', '/', '--chdir', '/', '--', program],
	];
}
