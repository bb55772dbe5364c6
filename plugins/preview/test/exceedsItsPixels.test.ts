import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import test, { type ExecutionContext } from 'ava';
import { assertPicture, isAbout, type Rendering, rendering, sharp } from './rendering.js';

const run = promisify(execFile);

const integer = (value: number, bytes: number): Buffer => {
	const made = Buffer.alloc(bytes);
	made.writeUIntBE(value, 0, bytes);
	return made;
};
const numbers = (bytes: number, ...values: number[]) => Buffer.concat(values.map((value) => integer(value, bytes)));
const box = (type: string, ...content: Buffer[]) => {
	const body = Buffer.concat(content);
	return Buffer.concat([integer(body.length + 8, 4), Buffer.from(type), body]);
};
/** A box with a version and flags. */
const versioned = (type: string, versionAndFlags: number, ...content: Buffer[]) =>
	box(type, integer(versionAndFlags, 4), ...content);

const red = [230, 20, 20];
const colour = { r: 230, g: 20, b: 20 };

interface Picture {
	format: 'avif' | 'heic';
	width: number;
	/** A box. */
	configuration: Buffer;
	data: Buffer;
}

/** A square picture of one colour, as its encoder writes it. */
async function pictureOf({ folder }: Rendering, format: Picture['format'], width: number): Promise<Picture> {
	const image = sharp({ create: { width, height: width, channels: 3, background: colour } });
	const file = path.join(folder, `encoded.${format}`);
	if (format === 'avif') await image.avif({ effort: 0 }).toFile(file);
	else {
		await image.png().toFile(path.join(folder, 'encoded.png'));
		await run('heif-enc', [path.join(folder, 'encoded.png'), '-o', file]);
	}
	const bytes = await readFile(file);
	const contentOf = (type: string) => {
		const at = bytes.indexOf(type) - 4;
		return bytes.subarray(at, at + bytes.readUInt32BE(at));
	};
	return {
		format,
		width,
		configuration: contentOf(format === 'avif' ? 'av1C' : 'hvcC'),
		data: contentOf('mdat').subarray(8),
	};
}

interface Composition {
	picture: Picture;
	/** How often it is turned by a quarter. */
	turns?: number;
	/** Each part of a grid has the bytes of the picture; its lines have so many, and there are as many lines. */
	parts?: number;
	/** Of the grid. */
	width?: number;
}

/** A file in which a picture is turned, or is each part of a grid. */
function composed({ picture, turns = 0, parts, width = 0 }: Composition): Buffer {
	const { format, configuration, data } = picture;
	const item = (id: number, type: string, flags: number) =>
		versioned('infe', 0x02000000 + flags, numbers(2, id, 0), Buffer.from(`${type}\0`));
	const size = (side: number) => versioned('ispe', 0, numbers(4, side, side));
	const channels = versioned('pixi', 0, numbers(1, 3, 8, 8, 8));
	const properties = [configuration, size(picture.width), channels, size(width), box('irot', numbers(1, 1))];
	const turned = Array<number>(turns).fill(5);
	const has = (id: number, ...named: number[]) =>
		Buffer.concat([integer(id, 2), integer(named.length, 1), numbers(1, ...named)]);
	const place = (id: number, at: number, length: number) =>
		Buffer.concat([numbers(2, id, 1, 0, 1), numbers(4, at, length)]);
	const coded = format === 'avif' ? 'av01' : 'hvc1';
	const items = [item(1, coded, parts === undefined ? 0 : 1)];
	const associations = [has(1, 1, 2, 3, ...(parts === undefined ? turned : []))];
	const places = [place(1, 0, data.length)];
	let grid = Buffer.alloc(0);
	let dimg: Buffer | undefined;
	if (parts !== undefined) {
		const ids = Array.from({ length: parts * parts }, (_, n) => n + 1);
		for (const id of ids.slice(1)) {
			items.push(item(id, coded, 1));
			associations.push(has(id, 1, 2, 3));
			places.push(place(id, 0, data.length));
		}
		const id = ids.length + 1;
		grid = Buffer.concat([numbers(1, 0, 1, parts - 1, parts - 1), numbers(4, width, width)]);
		items.push(item(id, 'grid', 0));
		associations.push(has(id, 4, 3, ...turned));
		places.push(place(id, data.length, grid.length));
		dimg = box('dimg', numbers(2, id, ids.length), numbers(2, ...ids));
	}
	const brands = Buffer.from(`${format}\0\0\0\0mif1${format}miaf`);
	return Buffer.concat([
		box('ftyp', brands),
		versioned(
			'meta',
			0,
			versioned('hdlr', 0, integer(0, 4), Buffer.from('pict'), Buffer.alloc(13)),
			versioned('pitm', 0, integer(items.length, 2)),
			versioned('iloc', 0x01000000, numbers(1, 0x44, 0), integer(places.length, 2), ...places),
			versioned('iinf', 0, integer(items.length, 2), ...items),
			...(dimg === undefined ? [] : [versioned('iref', 0, dimg)]),
			box('iprp', box('ipco', ...properties), versioned('ipma', 0, integer(associations.length, 4), ...associations)),
			box('idat', data, grid),
		),
	]);
}

async function hasNone(t: ExecutionContext, made: Rendering, name: string, content: Buffer): Promise<void> {
	await made.write(name, content);
	const start = performance.now();
	await t.throwsAsync(made.render(name), { message: 'The image can not be decoded.' }, name);
	const took = performance.now() - start;
	t.true(took < 5000, `${name}: ${Math.round(took)} ms`);
}

async function isShown(t: ExecutionContext, made: Rendering, name: string, content: Buffer): Promise<void> {
	await made.write(name, content);
	t.true(isAbout(await assertPicture(t, await made.render(name), 256, 256), red), name);
}

for (const format of ['avif', 'heic'] as const) {
	test.serial(
		`an ${format.toUpperCase()} image that has far more decoded or turned than it shows has no picture, at once`,
		async (t) => {
			const made = await rendering(t);
			const small = await pictureOf(made, format, 512);
			await isShown(t, made, `plain.${format}`, composed({ picture: small }));
			await hasNone(
				t,
				made,
				`turned.${format}`,
				composed({ picture: await pictureOf(made, format, 1000), turns: 250 }),
			);
			const picture = await pictureOf(made, format, 1000);
			await hasNone(t, made, `grid.${format}`, composed({ picture, parts: 15, width: 1200 }));
		},
	);

	test.serial(`an ${format.toUpperCase()} image of parts that cover it, and is turned, has its picture`, async (t) => {
		const made = await rendering(t);
		const picture = await pictureOf(made, format, 512);
		await isShown(t, made, `grid.${format}`, composed({ picture, parts: 10, width: 5000, turns: 1 }));
		await isShown(t, made, `small.${format}`, composed({ picture, parts: 3, width: 1400 }));
		await isShown(t, made, `turned.${format}`, composed({ picture, turns: 3 }));
	});
}
