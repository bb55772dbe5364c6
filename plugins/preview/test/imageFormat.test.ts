import test from 'ava';
import { imageFormat } from '../src/images/child/imageFormat.js';

const box = (...brands: string[]) => {
	const [major = '', ...others] = brands;
	const text = `ftyp${major}\0\0\0\0${others.join('')}`;
	const length = Buffer.alloc(4);
	length.writeUInt32BE(text.length + 4);
	return Buffer.concat([length, Buffer.from(text, 'latin1'), Buffer.from('\0\0\0\x10metaavifheic', 'latin1')]);
};

const tells = test.macro({
	exec: (t, bytes: Buffer, format: string | undefined) => t.is(imageFormat(bytes), format as never),
	title: (name) => `${name} is told by its first bytes`,
});
test('a JPEG', tells, Buffer.from('\xFF\xD8\xFF\xE0', 'latin1'), 'jpeg');
test('a TIFF of a scanner', tells, Buffer.from('MM\0*\0\0\0\x08', 'latin1'), 'tiff');
test('a HEIC photo', tells, box('heic', 'mif1', 'heic'), 'heic');
test('a HEIC photo under a general brand', tells, box('mif1', 'miaf', 'heic'), 'heic');
test('an AVIF image under a general brand', tells, box('mif1', 'avif', 'miaf'), 'avif');
test('a container of images that names no codec', tells, box('mif1'), 'heic');
test('a video', tells, box('isom', 'mp42'), undefined);
test('a drawing', tells, Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>'), undefined);
test('nothing', tells, Buffer.alloc(0), undefined);
test('a container that claims to be endless', tells, Buffer.from('\xFF\xFF\xFF\xFFftypisom', 'latin1'), undefined);
