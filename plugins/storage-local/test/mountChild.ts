/**
 * A process for tests that has just mounted things in a root: `mountChild.ts <root> <id>`. It tries to remove what holds a mount, removes
 * by other ways what has one nevertheless, and prints what became of it.
 */
import { existsSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { parsePath } from '@stowage/rules';
import { localStorageDriver } from '@stowage/storage-local';
import type { LocalStorage } from '../src/LocalStorage.js';

const [root = '', rootId = ''] = process.argv.slice(2);
const left: string[] = [];
const driver = localStorageDriver(root, { onMountLeft: (place) => left.push(place.slice(root.length)) });
// Opened with leftovers of a removal, in which something was mounted later.
const storage = (await driver.open(rootId)) as LocalStorage;
const refused: string[] = [];
for (const path of ['home/stuff', 'home/stuff/in a place', 'home', 'home/plain']) {
	const outcome = storage.remove(parsePath(path)).then(
		() => 'removed',
		(error: Error) => error.message,
	);
	refused.push(`${path}: ${await outcome}`);
}
const isHere = (path: string) => existsSync(`${root}/.stowage/trash-in-progress/${path}`);
const end = performance.now() + 60_000;
while ((left.length < 3 || isHere('a/deep/own')) && performance.now() < end) await wait(20);
await storage.close();
process.stdout.write(JSON.stringify({ left: left.sort(), refused }));
