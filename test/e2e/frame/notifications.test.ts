import test from 'ava';
import { rowOf, setUpFixture, writeFiles } from '../support/fileManager.js';
import { noticeMs } from '../support/notices.js';

const fixture = setUpFixture(test);

test.serial(
	'a notice disappears after three seconds under a resting mouse, and stays while the mouse moves over it',
	async (t) => {
		const manager = await fixture.enter(t);
		await writeFiles(manager.home, { 'a.txt': 'a' });
		const page = await manager.open('/browser?type=private');
		const notice = page.getByRole('status').filter({ hasText: 'Copied a.txt' });
		await rowOf(page, 'a.txt').click({ modifiers: ['Control'] });
		// At the position of the bar.
		await page.mouse.move(640, 760);
		await page.keyboard.press('Control+c');
		await notice.waitFor();
		await notice.waitFor({ state: 'detached' });

		await page.keyboard.press('Control+c');
		await notice.waitFor();
		await page.mouse.move(650, 762);
		await page.waitForTimeout(noticeMs + 1000);
		t.true(await notice.isVisible());
		await page.mouse.move(640, 300);
		await notice.waitFor({ state: 'detached' });
		t.deepEqual(manager.faults, []);
	},
);
