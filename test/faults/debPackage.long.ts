import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import test from 'ava';
import { tryDeb } from '../packages/tryDeb.js';

test('the published Debian package, with its own Node, can be installed, used, upgraded and removed', async (t) => {
	const folder = await mkdtemp(path.join(os.tmpdir(), 'stowage-packages-'));
	t.teardown(() => rm(folder, { recursive: true, force: true }));
	const { stdout } = await promisify(execFile)(process.execPath, ['scripts/deb.js', folder]);
	await tryDeb(t, stdout.trim());
});
