import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import test from 'ava';
import { removeFilms } from '../../plugins/handbrake/test/conversions.js';
import { checkWork } from '../packages/checkWork.js';
import { tryDeb } from '../packages/tryDeb.js';

const run = promisify(execFile);

test.after.always(removeFilms);

test('the published Debian package, with its own Node, has no error of lintian, and can be installed, used, upgraded and removed', async (t) => {
	const folder = await mkdtemp(path.join(os.tmpdir(), 'stowage-packages-'));
	t.teardown(() => rm(folder, { recursive: true, force: true }));
	const { stdout } = await run(process.execPath, ['scripts/deb.js', folder]);
	const deb = stdout.trim();
	// Its warnings are about style.
	await t.notThrowsAsync(run('lintian', ['--fail-on', 'error', deb]));
	await tryDeb(t, deb, (installed) => checkWork(t, installed));
});
