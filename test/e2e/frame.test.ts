// One process with one browser and one server for all: these cost more to start than most tests.
import './frame/accessibility.test.js';
import './frame/account.test.js';
import './frame/doubleClicks.test.js';
import './frame/focus.test.js';
import './frame/forcedColors.test.js';
import './frame/notifications.test.js';
import './frame/sessions.test.js';
import './frame/settings.test.js';
import './frame/twoFactor.test.js';
