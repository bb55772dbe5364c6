import { existsSync, realpathSync } from 'node:fs';
import { type CageNeeds, programPaths } from './needs.js';

/** How bubblewrap is called here. */
export interface Bubblewrap {
	/** Its absolute path. */
	bwrap: string;
	/**
	 * Whether a cage has a `/proc` of its own. Where parts of `/proc` are protected, as in containers and by systemd, the kernel allows none: then it has the system's, which can't be
	 * written, and lists other processes but reveals nothing else of them.
	 */
	hasOwnProc: boolean;
	/** The version of Landlock that confines programs in it as well; 0 for none. */
	landlock: number;
}

/**
 * The arguments for bubblewrap: no network, no other process, no file but those of programs and those named, which can't be written, and no place to write to. Open descriptors stay
 * open: sources and outputs are lent as such.
 */
export function bubblewrapArguments({ hasOwnProc }: Bubblewrap, program: string, needs: CageNeeds): string[] {
	const { devices = [] } = needs;
	return [
		...['--unshare-all', '--die-with-parent', '--cap-drop', 'ALL', '--uid', '65534', '--gid', '65534'],
		...(hasOwnProc ? ['--proc', '/proc'] : ['--ro-bind', '/proc', '/proc']),
		// First, or it would cover programs that lie below it.
		...['--dev', '/dev'],
		...programPaths(program, needs)
			.filter(existsSync)
			.flatMap((each) => ['--ro-bind', realpathSync(each), each]),
		...devices.filter(existsSync).flatMap((each) => ['--dev-bind', each, each]),
		// Else files written there would take uncounted memory.
		...(devices.length > 0 ? [] : ['--remount-ro', '/dev']),
		// Of the folders of programs it has only the system's.
		...['--setenv', 'PATH', [process.env.PATH, '/usr/local/bin:/usr/bin:/bin'].filter(Boolean).join(':')],
		...['--remount-ro', '/', '--chdir', '/', '--', program],
	];
}
