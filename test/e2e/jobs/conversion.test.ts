import { execFile } from 'node:child_process';
import { stat } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import test from 'ava';
import { eventuallyMatches } from '../support/expect.js';
import { expectOnDisk, overlaysClosed, rowOf, setUpFixture, writeFiles } from '../support/fileManager.js';
import { expectNotice } from '../support/notices.js';
import { timeoutMs } from '../support/timeouts.js';

const fixture = setUpFixture(test);
const run = promisify(execFile);

test.serial('real videos are converted with an open dialog and in the background', async (t) => {
	const ada = await fixture.enter(t);
	await writeFiles(ada.home, { 'films/': '' });
	const film = path.join(ada.home, 'films/-first ☀.avi');
	const source = ['-f', 'lavfi', '-i', 'testsrc=s=160x90:d=2:r=25', '-c:v', 'mpeg4', '-q:v', '1'];
	await run('ffmpeg', ['-nostdin', '-v', 'error', ...source, film]);
	const page = await ada.open('/browser/films?type=private');
	const dialog = page.getByRole('dialog', { name: 'Video Conversion', exact: true });

	await rowOf(page, '-first ☀.avi').click({ button: 'right' });
	await page.getByRole('menuitem', { name: 'Convert Video' }).click();
	const setup = page.getByRole('dialog', { name: 'Convert 1 Video', exact: true });
	await setup.getByText('-first ☀_converted.mp4').waitFor();
	await setup.getByRole('button', { name: 'Start Conversion' }).click();
	const sentence = 'All conversions completed successfully! The converted files have been saved.';
	await dialog.getByText(sentence).waitFor({ timeout: 2 * timeoutMs });
	const { size } = await stat(path.join(ada.home, 'films/-first ☀_converted.mp4'));
	t.true(size < (await stat(film)).size);
	await eventuallyMatches(
		t,
		() => dialog.getByRole('listitem').textContent(),
		/Saved as -first ☀_converted\.mp4 · [\d.]+ K?B → [\d.]+ K?B/,
	);
	await dialog.getByRole('button', { name: 'Close' }).click();
	await overlaysClosed(page);
	await rowOf(page, '-first ☀_converted.mp4').waitFor();

	// The output replaces its original. The dialog is closed before the end of the conversion.
	let answer = () => {};
	const isLeft = new Promise<void>((resolve) => {
		answer = resolve;
	});
	await page.route('**/api/handbrake/status/*', async (route) => {
		await isLeft;
		await route.continue();
	});
	await rowOf(page, '-first ☀.avi').click({ button: 'right' });
	await page.getByRole('menuitem', { name: 'Convert Video' }).click();
	await setup.getByText('MKV').click();
	await setup.getByText('Delete original file after conversion').click();
	await setup.getByRole('button', { name: 'Start Conversion' }).click();
	await dialog.getByRole('button', { name: 'Continue in background' }).click();
	answer();
	await overlaysClosed(page);
	await expectNotice(page, sentence);
	await rowOf(page, '-first ☀.mkv').waitFor();
	await expectOnDisk(t, ada.home, ['Public/', 'films/', 'films/-first ☀.mkv', 'films/-first ☀_converted.mp4']);

	await page.getByRole('button', { name: ada.username }).click();
	await page.getByRole('menuitem', { name: 'Activity' }).click();
	const jobs = page.getByRole('dialog', { name: 'Activity' }).getByRole('listitem');
	await jobs.filter({ hasText: 'Convert -first ☀.avi to MP4' }).getByText('→').waitFor();
	await jobs.filter({ hasText: 'Convert -first ☀.avi to MKV' }).getByText('Completed').waitFor();
	t.deepEqual(ada.faults, []);
});
