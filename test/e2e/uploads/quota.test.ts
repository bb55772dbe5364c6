import test from 'ava';
import { assertAccessible } from '../support/axe.js';
import { phone } from '../support/browser.js';
import { absent } from '../support/expect.js';
import { overlaysClosed, setUpFixture, withKeptPages, writeFiles } from '../support/fileManager.js';

const kilobyte = 1024;

const fixture = withKeptPages(setUpFixture(test, ['--quotas-user-bytes', String(1000 * kilobyte)]));

test.serial(
	'a nearly full quota is shown in the user menu and the upload queue, and an upload beyond it is refused',
	async (t) => {
		const ada = await fixture.enter(t, { viewport: phone });
		await writeFiles(ada.home, { 'photos.bin': Buffer.alloc(850 * kilobyte) });
		const page = await ada.open('/browser?type=private');
		const user = page.getByRole('button', { name: ada.username });
		await user.click();
		const meter = page.getByRole('progressbar', { name: '850.0 KB of 1000.0 KB used' });
		await meter.waitFor();
		await assertAccessible(t, page, 'user menu');
		await page.keyboard.press('Escape');
		await overlaysClosed(page);

		await page.setInputFiles('input[type=file]', {
			name: 'large.bin',
			mimeType: 'application/octet-stream',
			buffer: Buffer.alloc(300 * kilobyte),
		});
		const queue = page.getByRole('dialog', { name: 'Upload Queue (1 file)' });
		await queue.getByText('850.0 KB of 1000.0 KB used').waitFor();
		await queue.getByRole('button', { name: 'Upload All' }).click();
		await queue.getByText(/^You may keep 1000\.0 KB here, and .* of that is left\.$/).waitFor();
		await assertAccessible(t, page, 'queue');
		t.deepEqual(ada.faults, []);
	},
);

test.serial('a quota with much space left is not shown', async (t) => {
	const ada = await fixture.enter(t);
	await writeFiles(ada.home, { 'small.bin': Buffer.alloc(100 * kilobyte) });
	const page = await ada.open('/browser?type=private');
	await page.getByRole('button', { name: ada.username }).click();
	await page.getByRole('menuitem', { name: 'Logout' }).waitFor();
	await absent(t, page.getByRole('progressbar'));
	t.deepEqual(ada.faults, []);
});
