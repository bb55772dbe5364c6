import { access } from 'node:fs/promises';
import path from 'node:path';
import { root } from './run.js';

/** Parses each `--only <room>`: returns the folders of their tests and the remaining arguments. */
export async function chooseRooms(args) {
	const folders = [];
	const rest = [];
	for (let at = 0; at < args.length; at++) {
		if (args[at] === '--only') folders.push(await testsOf(args[++at] ?? ''));
		else if (args[at].startsWith('--only=')) folders.push(await testsOf(args[at].slice('--only='.length)));
		else rest.push(args[at]);
	}
	return { folders, rest };
}

/** A room has the name of its folder, such as `web`, `packages/core` or `core`, `plugins/zip`, `e2e`. */
async function testsOf(room) {
	const own = room === 'test' || room.startsWith('test/') ? [room] : [];
	for (const folder of [...own, `${room}/test`, `packages/${room}/test`, `plugins/${room}/test`, `test/${room}`]) {
		if (room !== '' && (await exists(folder))) return folder;
	}
	console.error(
		`No tests lie in ${JSON.stringify(room)}. Rooms are web, cli, packages/core, plugins/zip, e2e, faults and so on.`,
	);
	process.exit(1);
}

function exists(folder) {
	return access(path.join(root, folder)).then(
		() => true,
		() => false,
	);
}
