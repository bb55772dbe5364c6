import type { ExecutionContext } from 'ava';
import type { Page } from 'playwright-core';
import type { FileManager } from './fileManager.js';
import { rowOf } from './fileManager.js';

/** Makes these, and nobody else, the members of a folder of a user, by the call. */
export async function setMembers(
	t: ExecutionContext,
	owner: FileManager,
	folder: string,
	members: Readonly<Record<string, 'view' | 'edit'>>,
): Promise<void> {
	const data = { path: folder, members: Object.entries(members).map(([username, role]) => ({ username, role })) };
	const answer = await owner.context.request.put(`${owner.origin}/api/members`, {
		data,
		headers: { cookie: await cookiesOf(owner) },
	});
	t.is(answer.status(), 200, await answer.text());
}

/** Those of a user's browser, for calls past it. */
export async function cookiesOf({ context }: FileManager): Promise<string> {
	return (await context.cookies()).map(({ name, value }) => `${name}=${value}`).join('; ');
}

/** Opens the dialog of a folder's members by its menu. */
export async function openMembers(page: Page, folder: string) {
	await rowOf(page, folder).click({ button: 'right' });
	await page.getByRole('menuitem', { name: 'Members', exact: true }).click();
	const dialog = page.getByRole('dialog', { name: 'Members' });
	await dialog.getByLabel('Username').waitFor();
	return dialog;
}

export const areaOptions = (page: Page) => page.getByLabel('Area').getByRole('option').allTextContents();
