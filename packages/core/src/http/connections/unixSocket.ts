import { once } from 'node:events';
import { constants } from 'node:fs';
import { chmod, lstat, open, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import type { Server as HapiServer } from '@hapi/hapi';
import { ConfigError } from '../../config/load.js';
import type { Config } from '../../config/schema.js';

/** The path in the setting `listen`; undefined where the server listens at an address. */
export function socketPathOf({ listen }: { listen: string }): string | undefined {
	return listen === '' ? undefined : listen.slice('unix:'.length);
}

/** Listens at the configured address. Resolves to the address, with the base path if there is one. */
export async function listen(
	server: HapiServer,
	config: Pick<Config, 'listen' | 'socketMode' | 'basePath'>,
): Promise<string> {
	const path = socketPathOf(config);
	if (path === undefined) {
		await server.start();
		return `${server.info.uri}${config.basePath}`;
	}
	await removeStaleSocket(path);
	bindClosed(server);
	await server.start();
	await openSocket(config);
	return config.listen;
}

/** Frees the path of the configured socket, if there is one. Throws ConfigError for anything but a socket without a listener. */
export async function freeSocket(config: Pick<Config, 'listen'>): Promise<void> {
	const path = socketPathOf(config);
	if (path !== undefined) await removeStaleSocket(path);
}

/** Lets those connect to the configured socket, if there is one, whom its mode names. */
export async function openSocket(config: Pick<Config, 'listen' | 'socketMode'>): Promise<void> {
	const path = socketPathOf(config);
	if (path !== undefined) await setMode(path, Number.parseInt(config.socketMode, 8));
}

/**
 * Makes the socket of a server one that nobody but its user can connect to, from the first instant: the system creates it with the
 * umask's mode. Node binds within the call of `listen`. The umask is that of the whole process, so what other threads create in that
 * moment is closed to others too, and never more open.
 */
function bindClosed({ listener }: HapiServer): void {
	const begin = listener.listen.bind(listener) as (...words: unknown[]) => typeof listener;
	listener.listen = (...words: unknown[]) => {
		const before = process.umask();
		process.umask(before | 0o077);
		try {
			return begin(...words);
		} finally {
			process.umask(before);
		}
	};
}

/** Linux's O_PATH: a socket can't be opened otherwise. */
const pathOnly = 0o10000000;

/** Sets the mode of the socket itself, and of nothing that a link of its name leads to. */
async function setMode(path: string, mode: number): Promise<void> {
	if (process.platform !== 'linux') return chmod(path, mode);
	const handle = await open(path, pathOnly | constants.O_NOFOLLOW);
	try {
		if (!(await handle.stat()).isSocket())
			throw new ConfigError(`Something else lies in the place of the socket ${path}.`);
		await chmod(`/proc/self/fd/${handle.fd}`, mode);
	} finally {
		await handle.close();
	}
}

/**
 * Frees the path of a socket: removes a socket without a listener, as a crash leaves. Throws ConfigError for anything else of that name.
 */
async function removeStaleSocket(path: string): Promise<void> {
	const found = await lstat(path).catch((error: NodeJS.ErrnoException) => {
		if (error.code === 'ENOENT') return undefined;
		throw new ConfigError(`The socket ${path} can't be made (${error.code}).`, { cause: error });
	});
	if (found === undefined) return;
	if (!found.isSocket()) throw new ConfigError(`The setting listen names ${path}, which is there and is no socket.`);
	// With another listener, listening fails.
	if (!(await answers(path))) await rm(path);
}

async function answers(path: string): Promise<boolean> {
	const socket = connect(path);
	try {
		await once(socket, 'connect');
		return true;
	} catch (error) {
		return (error as NodeJS.ErrnoException).code !== 'ECONNREFUSED';
	} finally {
		socket.destroy();
	}
}
