// One spec file, so that all parts share one service.
import './list-pets.suite.js';
import './create-pet.suite.js';
import './get-pet.suite.js';
import './request-body.suite.js';
import './preference.suite.js';
import './authentication.suite.js';
import './routing.suite.js';
import './raw-socket.suite.js';
import './operational-endpoints.suite.js';
