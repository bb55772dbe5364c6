import * as contract from '@stowage/contract';
import { type Answer, type Client, field, file, form, json } from '../../packages/core/test/testApp.js';
import { metadata } from '../../packages/core/test/tusClient.js';
import { until } from '../../packages/core/test/until.js';
import type { Request, Send } from './call.js';
import type { Place } from './items.js';

/** What a call sends about an item, and what its owner does before: the latter resolve to the id or token that the call is about. */

export const fileName = 'fox.mp4';
export const tus = { 'tus-resumable': '1.0.0' };
export const chunk = { ...tus, 'content-type': 'application/offset+octet-stream', 'upload-offset': '0' };

export const fileIn = ({ folder }: Place): string => `${folder}/${fileName}`;
export const areaOf = ({ type, owner }: Place) => ({ type, ...(owner === undefined ? {} : { owner }) });

export function multipart(fields: Record<string, string>): Request {
	const parts = Object.entries(fields).map(([key, value]) => field(key, value));
	const { body, type } = form([...parts, file('new.txt', 'new')]);
	return { payload: body, headers: { 'content-type': type } };
}

export const tusRequest = (fields: Record<string, string>, length = 0): Request => ({
	headers: { ...tus, 'upload-length': String(length), 'upload-metadata': metadata(fields) },
});

export function selection(place: Place): Request {
	const { type, ...owner } = areaOf(place);
	return { payload: { files: [{ path: place.folder, ...owner }], type, directory: '' } };
}

export const transfer =
	(kind: 'copy' | 'move') =>
	(place: Place): Request => {
		const { type, ...owner } = areaOf(place);
		const items = [{ path: fileIn(place), ...owner }];
		return { payload: { kind, type, toType: 'private', directory: '', items } };
	};

export const conversion = (place: Place) => ({
	filePath: fileIn(place),
	outputFormat: 'mp4',
	quality: 30,
	deleteOriginal: false,
	...areaOf(place),
});

async function answered(status: number, call: Promise<Answer>): Promise<Answer> {
	const answer = await call;
	if (answer.statusCode !== status) throw new Error(`The owner was answered ${answer.statusCode}: ${answer.payload}`);
	return answer;
}

const lastOf = (url: unknown): string => String(url).split('/').at(-1) ?? '';

export async function trashed(owner: Client, { type, ...place }: Place): Promise<string> {
	const payload = { filePath: fileIn({ type, ...place }), type };
	return json(await answered(200, owner.call('DELETE', '/api/deleteItem', payload))).trashId;
}

export async function oldVersion(owner: Client, place: Place): Promise<string> {
	const parts = [field('directory', place.folder), field('onConflict', 'replace'), file(fileName, 'another text')];
	await answered(200, owner.upload('/api/upload', parts));
	return json(await answered(200, owner.get(`/api/versions/${fileIn(place)}?type=private`))).versions[0].id;
}

export async function linkOf(owner: Client, place: Place): Promise<string> {
	const payload = { filePath: fileIn(place), expiration: '1h' };
	return json(await answered(200, owner.post('/api/generateTempLink', payload))).token;
}

export async function linkIdOf(owner: Client, place: Place): Promise<string> {
	await linkOf(owner, place);
	const links = json(await answered(200, owner.get('/api/links'))) as { id: string; path: string }[];
	return links.find(({ path }) => path === fileIn(place))?.id ?? '';
}

export async function shareOf(owner: Client, place: Place): Promise<string> {
	return json(await answered(201, owner.post('/api/shares', { items: [{ path: fileIn(place) }], mode: 'view' }))).id;
}

export const ticketOf = async (owner: Client, place: Place): Promise<string> =>
	json(await answered(201, owner.post('/api/downloadTickets', selection(place).payload))).ticket;

/** A job that has ended. */
export async function jobOf(owner: Client, place: Place): Promise<string> {
	const { id } = json(await answered(202, owner.post('/api/jobs', transfer('copy')(place).payload)));
	await until('the job ends', async () => json(await owner.get(`/api/jobs/${id}`)).status === 'completed');
	return id;
}

const conversions = new WeakMap<Client, Promise<string>>();

/** One for each owner: it takes a while. */
export function conversionOf(owner: Client, place: Place): Promise<string> {
	const made =
		conversions.get(owner) ??
		answered(202, owner.post('/api/handbrake/convert', conversion(place))).then((answer) => json(answer).conversionId);
	conversions.set(owner, made);
	return made;
}

export async function uploadOf(owner: Client, { folder, type }: Place): Promise<string> {
	const { headers } = tusRequest({ filename: 'sent.txt', directory: folder, type }, 4);
	return lastOf((await answered(201, owner.call('POST', '/api/uploads', undefined, headers))).headers.location);
}

export async function viewerLinkOf(owner: Client, { folder, type }: Place): Promise<string> {
	const { url } = json(await answered(201, owner.post('/api/viewerLink', { path: `${folder}/marker.docx`, type })));
	return new URL(url).pathname.split('/').at(-2) ?? '';
}

/** Makes members of the folder itself, who may leave it under its name, unless it is shared with nobody. */
export async function joined(owner: Client, { folder }: Place): Promise<string> {
	const { username } = json(await answered(200, owner.get('/api/checkLoginStatus')));
	const members = [
		{ username: 'bob', role: 'edit' },
		{ username: 'carl', role: 'view' },
	].filter((each) => each.username !== username && !folder.startsWith('other/'));
	await answered(200, owner.call('PUT', '/api/members', { path: folder, members }));
	return folder.slice(folder.lastIndexOf('/') + 1);
}

export const sessionOf = async (owner: Client): Promise<string> =>
	json(await answered(200, owner.get('/api/sessions')))[0].id;

export const sentTo = async (send: Send): Promise<string> =>
	lastOf(
		(await send({ endpoint: contract.createShareUpload, ...tusRequest({ filename: 'sent.txt' }, 4) })).headers.location,
	);
