import test from 'ava';
import { imageFormat } from '../src/images/child/imageFormat.js';

const box = (...brands: string[]) => {
	const [major = '', ...others] = brands;
	const text = `ftyp${major}\0\0\0\0${others.join('')}`;
	const length = Buffer.alloc(4);
	length.writeUInt32BE(text.length + 4);
	return Buffer.concat([length, Buffer.from(text, 'latin1'), Buffer.from('\0\0\0\x10metaavifheic', 'latin1')]);
};

const recognized = test.macro({
	exec: (t, bytes: Buffer, format: string | undefined) => t.is(imageFormat(bytes), format as never),
	title: (name, _bytes, format) => `${name} is recognized as ${format ?? 'no image format'}`,
});
test('a JPEG file', recognized, Buffer.from('\xFF\xD8\xFF\xE0', 'latin1'), 'jpeg');
test('a TIFF of a scanner', recognized, Buffer.from('MM\0*\0\0\0\x08', 'latin1'), 'tiff');
test('a HEIC photo', recognized, box('heic', 'mif1', 'heic'), 'heic');
test('a HEIC photo under a general brand', recognized, box('mif1', 'miaf', 'heic'), 'heic');
test('an AVIF image under a general brand', recognized, box('mif1', 'avif', 'miaf'), 'avif');
test('an image container without a codec brand', recognized, box('mif1'), 'heic');
test('a video file', recognized, box('isom', 'mp42'), undefined);
test('an SVG drawing', recognized, Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>'), undefined);
test('an empty file', recognized, Buffer.alloc(0), undefined);
test('a container of unlimited length', recognized, Buffer.from('\xFF\xFF\xFF\xFFftypisom', 'latin1'), undefined);
