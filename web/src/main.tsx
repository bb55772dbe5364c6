import './jitless.js';
import './ui/theme.css';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { App } from './app/App.js';
import { holdDoubleClicks } from './ui/doubleClicks.js';
import { holdComposingKeys } from './ui/keyboard/composing.js';
import { ignoreHeldPastes } from './ui/keyboard/heldPastes.js';
import { keepFocus } from './ui/keyboard/keptFocus.js';
import { holdKeyReleases } from './ui/keyboard/keyReleases.js';
import { watchHistory } from './ui/unsavedWork.js';

const root = document.getElementById('root');
if (!root) throw new Error('The page has no element #root.');

holdDoubleClicks();
holdKeyReleases();
holdComposingKeys();
ignoreHeldPastes();
keepFocus();
watchHistory();
createRoot(root).render(
	<StrictMode>
		<App />
	</StrictMode>,
);
