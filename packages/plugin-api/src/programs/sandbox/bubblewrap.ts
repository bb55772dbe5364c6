import { existsSync, fstatSync, readlinkSync, realpathSync } from 'node:fs';
import { programPaths, type SandboxNeeds } from './needs.js';

/** How bubblewrap is called here. */
export interface Bubblewrap {
	/** Its absolute path. */
	bwrap: string;
	/**
	 * Whether a sandbox has a `/proc` of its own. Where parts of `/proc` are protected, as in containers and by systemd, the kernel allows
	 * none: then it has the system's, which can't be written, and lists other processes but reveals nothing else of them.
	 */
	hasOwnProc: boolean;
	/**
	 * What confines programs in it as well: a filter of system calls, and Landlock in this version of it, 0 for none. Undefined where there
	 * is no filter for this processor.
	 */
	inner: { landlock: number } | undefined;
}

/**
 * The arguments for bubblewrap: no network, no other process, no file but those of programs and those named, which can't be written, and
 * no place to write to. Open descriptors stay open: sources and outputs are lent as such.
 */
export function bubblewrapArguments({ hasOwnProc, inner }: Bubblewrap, program: string, needs: SandboxNeeds): string[] {
	const { devices = [] } = needs;
	// A descriptor that is lent for reading is a way to open its file for writing, which Landlock prevents.
	const readOnlyFiles = inner !== undefined && inner.landlock > 0 ? [] : lentForReading(needs);
	return [
		...['--unshare-all', '--die-with-parent', '--cap-drop', 'ALL', '--uid', '65534', '--gid', '65534'],
		// Settings of the kernel are the files of root, and so of a server that runs as root, whatever its capabilities.
		...(hasOwnProc ? ['--proc', '/proc', '--remount-ro', '/proc'] : ['--ro-bind', '/proc', '/proc']),
		// First, or it would cover programs that lie below it.
		...['--dev', '/dev'],
		// It brings shared memory that no limit counts; by a read-only mount a device can't be opened.
		...['--ro-bind', '/dev/null', '/dev/zero'],
		...programPaths(program, needs)
			.filter(existsSync)
			.flatMap((each) => ['--ro-bind', realpathSync(each), each]),
		...devices.filter(existsSync).flatMap((each) => ['--dev-bind', each, each]),
		// Else files written there would take uncounted memory.
		...(devices.length > 0 ? [] : ['--remount-ro', '/dev']),
		// Of the folders of programs it has only the system's.
		...['--setenv', 'PATH', [process.env.PATH, '/usr/local/bin:/usr/bin:/bin'].filter(Boolean).join(':')],
		...readOnlyFiles.flatMap(({ descriptor, path }) => ['--ro-bind', path, lentPath(descriptor)]),
		...['--remount-ro', '/', '--chdir', '/', '--'],
		...readOnlyFiles.flatMap(({ descriptor }) => reopened(descriptor)),
		program,
	];
}

const lentPath = (descriptor: number) => `/lent/${descriptor}`;

/** Files with names that are lent for reading, by the names that they have now. */
function lentForReading({ files = [] }: SandboxNeeds): { descriptor: number; path: string }[] {
	return files
		.filter(({ access, source }) => access === 'read' && fstatSync(source).isFile())
		.map(({ descriptor, source }) => ({ descriptor, path: readlinkSync(`/proc/self/fd/${source}`) }));
}

/**
 * The command before a program that replaces its descriptor by one of the mount that can't be written. Another file may have got its name
 * meanwhile: then it ends as one that could not be started.
 */
function reopened(descriptor: number): string[] {
	const path = lentPath(descriptor);
	const script = `[ ${path} -ef /proc/self/fd/${descriptor} ] || exit 126; exec ${descriptor}<${path}; exec "$@"`;
	return ['/bin/sh', '-c', script, 'sh'];
}
