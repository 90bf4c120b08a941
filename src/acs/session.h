// Both ends of a session of the ECS agent protocol.
#pragma once

#include "acs/agent_session.h"
#include "acs/server_session.h"
