import test from 'ava';
import type { Route } from 'playwright-core';
import { assertAccessible } from '../support/axe.js';
import { eventually, gone } from '../support/expect.js';
import { overlaysClosed, rowOf, setUpFixture, withKeptContexts, writeFiles } from '../support/fileManager.js';
import { holdTimers, noHeldTimers, releaseTimers } from '../support/heldTimers.js';

const fixture = withKeptContexts(setUpFixture(test));

test.serial('settings are saved, take effect at once and are kept for the next visit', async (t) => {
	const ada = await fixture.enter(t);
	await writeFiles(ada.home, { 'a.bin': 'a' });
	await holdTimers(ada.context, 1000);
	const page = await ada.open('/browser?type=private');
	await page.getByRole('button', { name: 'Settings' }).click();
	const dialog = page.getByRole('dialog', { name: 'Settings' });
	const asks = dialog.getByRole('switch', { name: 'Ask before download' });
	const previews = dialog.getByRole('switch', { name: 'Enable preview' });
	const save = dialog.getByRole('button', { name: 'Save Changes' });
	await dialog.getByRole('region', { name: 'Download Settings' }).waitFor();
	await dialog.getByRole('region', { name: 'Preview Settings' }).waitFor();
	await asks.and(page.locator(':focus')).waitFor();
	await eventually(t, async () => [await asks.isChecked(), await previews.isChecked()], [false, true]);
	await eventually(t, () => save.isDisabled(), true);
	await page.keyboard.press('Space');
	await eventually(t, () => asks.isChecked(), true);
	await eventually(t, () => save.isDisabled(), false);
	await page.keyboard.press('Space');
	await eventually(t, () => save.isDisabled(), true, 'there is no change to save');
	await assertAccessible(t, page, 'settings');

	await asks.check({ force: true });
	await dialog.getByRole('button', { name: 'Cancel' }).click();
	await overlaysClosed(page);
	await page.getByRole('button', { name: 'Settings' }).click();
	await eventually(t, () => asks.isChecked(), false, 'Cancel discards the change');

	await asks.check({ force: true });
	await save.click();
	await dialog.getByText('Settings saved successfully!').waitFor();
	// Shown for a second.
	await releaseTimers(page);
	await overlaysClosed(page);
	await rowOf(page, 'a.bin').locator('[data-part=name]').click();
	await page.getByRole('dialog', { name: 'Confirm Download' }).waitFor();
	await page.keyboard.press('Escape');

	const again = await ada.open('/browser?type=private');
	await again.getByRole('button', { name: 'Settings' }).click();
	await eventually(t, () => again.getByRole('switch', { name: 'Ask before download' }).isChecked(), true);
	t.deepEqual(ada.faults, []);
});

test.serial('the settings dialog stays open with the reason if the settings could not be saved', async (t) => {
	const ada = await fixture.enter(t);
	await holdTimers(ada.context, 1000);
	const page = await ada.open('/browser?type=private');
	await page.getByRole('button', { name: 'Settings' }).click();
	const dialog = page.getByRole('dialog', { name: 'Settings' });
	await dialog.getByRole('switch', { name: 'Enable preview' }).uncheck({ force: true });
	const save = dialog.getByRole('button', { name: 'Save Changes' });
	const answers: [sentence: string, answer: (route: Route) => Promise<void>][] = [
		['Network error', (route) => route.abort()],
		['Failed to update settings', (route) => route.fulfill({ status: 502, body: '<h1>Bad Gateway</h1>' })],
		[
			'The disk of the database is full.',
			(route) =>
				route.fulfill({
					status: 507,
					json: { statusCode: 507, code: 'STORAGE_FULL', error: 'x', message: 'The disk of the database is full.' },
				}),
		],
		['Failed to save settings', (route) => route.fulfill({ json: { settings: 'what?' } })],
	];
	for (const [sentence, answer] of answers) {
		await page.route('**/api/settings', answer, { times: 1 });
		await save.click();
		await dialog.getByRole('alert').filter({ hasText: sentence }).waitFor();
		await eventually(t, () => save.isDisabled(), false, 'saving can be tried again');
	}
	await save.click();
	await dialog.getByText('Settings saved successfully!').waitFor();
	await gone(t, dialog.getByRole('alert'));
	t.deepEqual(ada.faults, []);
});

test.serial('the settings dialog does not close over what was begun since they were saved', async (t) => {
	const ada = await fixture.enter(t);
	await holdTimers(ada.context, 1000);
	const page = await ada.open('/browser?type=private');
	const dialog = page.getByRole('dialog', { name: 'Settings' });
	const asks = dialog.getByRole('switch', { name: 'Ask before download' });
	const previews = dialog.getByRole('switch', { name: 'Enable preview' });
	const password = dialog.getByLabel('Current password');
	const save = async (change: () => Promise<void>) => {
		await change();
		const answered = page.waitForResponse('**/api/settings');
		await dialog.getByRole('button', { name: 'Save Changes' }).click();
		await answered;
		await dialog.getByText('Settings saved successfully!').waitFor();
	};
	await page.getByRole('button', { name: 'Settings' }).click();
	await save(async () => {
		await asks.check({ force: true });
		await password.fill('correct');
	});
	await noHeldTimers(page);
	await password.fill('');
	await noHeldTimers(page);

	await save(() => asks.uncheck({ force: true }));
	await previews.uncheck({ force: true });
	await noHeldTimers(page);

	await save(async () => {});
	await dialog.getByRole('button', { name: 'Turn On' }).click();
	await dialog.getByRole('list', { name: 'Recovery codes' }).waitFor();
	await noHeldTimers(page);
	await dialog.getByLabel('Code', { exact: true }).fill('123456');

	await save(() => previews.check({ force: true }));
	await noHeldTimers(page);
	await dialog.getByRole('region', { name: 'Two-factor sign-in' }).getByRole('button', { name: 'Cancel' }).click();

	await save(() => previews.uncheck({ force: true }));
	await releaseTimers(page);
	await overlaysClosed(page);
	t.deepEqual(ada.faults, []);
});
