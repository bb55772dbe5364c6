import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import type { ExecutionContext } from 'ava';

const execute = promisify(execFile);

/** A copy of this machine with all that is installed. Changes to it are discarded. */
export interface CopyOfMachine {
	/** The path of its root. */
	root: string;
	/** Runs a command in it, as root; resolves to its output. Rejects when it fails. */
	run(command: string, ...args: string[]): Promise<string>;
}

/** Lays a memory file system over the root of this machine. Needs root and Linux. */
export async function copyOfMachine(t: ExecutionContext): Promise<CopyOfMachine> {
	const place = await mkdtemp(path.join(os.tmpdir(), 'stowage-machine-'));
	const mounted: string[] = [];
	const mount = async (folder: string, ...args: string[]) => {
		await execute('mount', [...args, folder]);
		mounted.push(folder);
	};
	t.teardown(async () => {
		for (const folder of mounted.reverse()) await execute('umount', ['-l', folder]);
		await rm(place, { recursive: true });
	});
	await mount(place, '-t', 'tmpfs', 'tmpfs');
	const [upper, work, root] = ['upper', 'work', 'root'].map((name) => path.join(place, name)) as [
		string,
		string,
		string,
	];
	for (const folder of [upper, work, root]) await mkdir(folder);
	await mount(root, '-t', 'overlay', '-o', `lowerdir=/,upperdir=${upper},workdir=${work}`, 'overlay');
	await mount(path.join(root, 'dev'), '--bind', '/dev');
	await mount(path.join(root, 'proc'), '-t', 'proc', 'proc');
	return {
		root,
		async run(command, ...args) {
			const env = { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', DEBIAN_FRONTEND: 'noninteractive' };
			const { stdout, stderr } = await execute('chroot', [root, command, ...args], { env });
			return stdout + stderr;
		},
	};
}
