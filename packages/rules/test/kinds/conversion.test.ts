import test from 'ava';
import {
	conversionOutputName,
	conversionQuality,
	conversionQualityLabel,
	conversionRateFactor,
	convertedName,
	isFailure,
	utf8Length,
} from '../../src/index.js';

const label = test.macro((t, quality: number, text: string) => t.is(conversionQualityLabel(quality), text));
test('quality 35 is labelled as the maximum', label, 35, 'Maximum Quality (Very Large Files)');
test('quality 34 is labelled as high', label, 34, 'High Quality (Large Files)');
test('quality 30 is labelled as high', label, 30, 'High Quality (Large Files)');
test('quality 29 is labelled as good', label, 29, 'Good Quality (Medium Files)');
test('the default quality is labelled as good', label, conversionQuality.default, 'Good Quality (Medium Files)');
test('quality 24 is labelled as low', label, 24, 'Low Quality (Small Files)');
test('quality 20 is labelled as low', label, 20, 'Low Quality (Small Files)');
test('quality 19 is labelled as the minimum', label, 19, 'Minimum Quality (Very Small Files)');

test('the highest quality has the lowest rate factor', (t) => {
	t.is(conversionRateFactor(conversionQuality.max), 18);
	t.is(conversionRateFactor(conversionQuality.default), 25);
	t.is(conversionRateFactor(conversionQuality.min), 35);
});

test('a converted video that is kept beside its original has _converted in its name', (t) => {
	t.is(convertedName('Holiday.mov', 'mp4', false), 'Holiday_converted.mp4');
	t.is(convertedName('a.b.mp4', 'mp4', false), 'a.b_converted.mp4');
	t.is(convertedName('-x y.webm', 'mkv', false), '-x y_converted.mkv');
});

test('a converted video that replaces its original has the same base name', (t) => {
	t.is(convertedName('Holiday.mov', 'webm', true), 'Holiday.webm');
	t.is(convertedName('Holiday.mp4', 'mp4', true), 'Holiday.mp4');
});

test('the name of a converted video has at most 255 bytes', (t) => {
	const name = convertedName(`${'漢'.repeat(83)}.mov`, 'webm', false);
	t.true(utf8Length(name) <= 255);
	t.true(name.endsWith('漢_converted.webm'));
});

test("a given name gets the extension of the format, instead of another video's, and an invalid one is refused", (t) => {
	t.is(conversionOutputName(' Holiday ', 'mp4'), 'Holiday.mp4');
	t.is(conversionOutputName('Holiday.mp4', 'mp4'), 'Holiday.mp4');
	t.is(conversionOutputName('Holiday.MOV', 'mkv'), 'Holiday.mkv');
	t.is(conversionOutputName('Version 2.0', 'webm'), 'Version 2.0.webm');
	t.is(conversionOutputName('--version', 'mp4'), '--version.mp4');
	for (const name of ['', '  ', '../a', 'a/b', 'a\\b', 'a\0', 'x'.repeat(255)]) {
		const error = t.throws(() => conversionOutputName(name, 'mp4'));
		t.true(isFailure(error, 'invalidName'), name);
	}
});
