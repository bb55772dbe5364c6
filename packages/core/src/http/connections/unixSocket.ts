import { once } from 'node:events';
import { chmod, lstat, rm } from 'node:fs/promises';
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
	await server.start();
	// Until now it was closed to all but its own user.
	await chmod(path, Number.parseInt(config.socketMode, 8));
	return config.listen;
}

/** Frees the path of a socket: removes a socket without a listener, as a crash leaves. Throws ConfigError for anything else of that name. */
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
